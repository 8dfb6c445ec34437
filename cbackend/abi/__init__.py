"""The binary interface between Python and generated libraries: structs and entry."""
