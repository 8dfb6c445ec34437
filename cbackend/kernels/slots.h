/* Written by cbackend/abi/generate.py from the specs: do not edit. */

#if !COMPLEX
#define ATTENTION_SLOT .attention = attend,
#else
#define ATTENTION_SLOT
#endif
#define PRODUCTS_SLOTS ATTENTION_SLOT

#define BYTES_SLOTS 
