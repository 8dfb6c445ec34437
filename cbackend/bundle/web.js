/* NAME in a page, a worker or Node: calls NAME.wasm.

       const f = await arignote.NAME.open(wasm, weights);    // the bytes of NAME.wasm and NAME.weights
       const [y] = f.run([{data: new Float32Array(6), shape: [2, 3]}]);

   Results are {name, dtype, data, shape}; complex numbers lie as pairs, float16 as bits.  Shapes may be left out where
   the type of the input says all lengths. */
(globalThis.arignote ??= {}).NAME = (() => {
    const TABLES = TYPES, BYTES_OF_ARRAY = 8 + 8 * RANK;
    const ARRAYS = {
        bool: Uint8Array, int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array, uint8: Uint8Array,
        uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array, float16: Uint16Array, float32: Float32Array,
        float64: Float64Array, complex64: Float32Array, complex128: Float64Array,
    };
    const parts = (dtype) => (dtype.startsWith("complex") ? 2 : 1);
    const size = (shape) => shape.reduce((count, length) => count * length, 1);

    /* System calls of the C library: a page has no files and no arguments. */
    function system(module) {
        const imports = {};
        for (const {module: from, name} of WebAssembly.Module.imports(module)) {
            imports[from] ??= {};
            imports[from][name] = name === "proc_exit" ? (code) => { throw new Error(`NAME: exit ${code}`); } : () => 52;
        }
        return imports;
    }

    class Opened {
        constructor(instance, weights) {
            this.c = instance.exports;
            this.c._initialize?.();
            const at = this._copied(new Uint8Array(weights.buffer ?? weights, weights.byteOffset ?? 0, weights.byteLength));
            this.f = this.c.NAME_open_memory(at, weights.byteLength, 1);
            this.c.free(at);
            if (!this.f) throw new Error("these are not the weights of NAME");
        }

        _room(bytes) {
            const at = this.c.malloc(bytes + 1);
            if (!at) throw new Error("NAME: out of memory");
            return at;
        }

        _copied(array) {
            const at = this._room(array.byteLength);
            const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
            new Uint8Array(this.c.memory.buffer).set(bytes, at);
            return at;
        }

        _fill(view, at, type, input) {
            const shape = input.shape ?? type.shape;
            const data = input.data ?? input;
            const Kind = ARRAYS[type.dtype], number = type.dtype.endsWith("int64") ? BigInt : Number;
            const array = data instanceof Kind ? data : Kind.from(data, number);
            if (shape.length !== type.shape.length || size(shape) * parts(type.dtype) !== array.length)
                throw new Error(`NAME: ${type.name} has ${array.length} numbers, not the shape [${shape}] of ${type.dtype}`);
            const copied = this._copied(array);
            view().setUint32(at, copied, true);
            shape.forEach((length, axis) => view().setBigInt64(at + 8 + 8 * axis, BigInt(length), true));
            return copied;
        }

        run(inputs) {
            const view = () => new DataView(this.c.memory.buffer);
            const counts = [TABLES.inputs.length, TABLES.outputs.length];
            if (inputs.length !== counts[0]) throw new Error(`NAME: expected ${counts[0]} inputs, got ${inputs.length}`);
            const [given, made] = counts.map((count) => this._room(count * BYTES_OF_ARRAY));
            const blocks = [given, made];
            try {
                new Uint8Array(this.c.memory.buffer).fill(0, made, made + counts[1] * BYTES_OF_ARRAY);
                inputs.forEach((input, k) =>
                    blocks.push(this._fill(view, given + k * BYTES_OF_ARRAY, TABLES.inputs[k], input)));
                const code = this.c.NAME_run(this.f, given, made);
                if (code) throw new Error(this._message(code));
                return TABLES.outputs.map((type, k) => this._taken(view(), made + k * BYTES_OF_ARRAY, type));
            } finally {
                blocks.forEach((block) => this.c.free(block));
            }
        }

        _taken(view, at, type) {
            const data = view.getUint32(at, true);
            const shape = type.shape.map((_, axis) => Number(view.getBigInt64(at + 8 + 8 * axis, true)));
            const found = new ARRAYS[type.dtype](this.c.memory.buffer, data, size(shape) * parts(type.dtype)).slice();
            this.c.NAME_free(this.f, data);
            return {name: type.name, dtype: type.dtype, data: found, shape};
        }

        _message(code) {
            const room = 500, at = this._room(room);
            this.c.NAME_message(code, at, room);
            const bytes = new Uint8Array(this.c.memory.buffer, at, room);
            const text = new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
            this.c.free(at);
            return text;
        }

        close() {
            this.c.NAME_close(this.f);
            this.f = 0;
        }
    }

    return {
        types: TABLES,
        async open(wasm, weights) {
            const module = await WebAssembly.compile(wasm);
            return new Opened(await WebAssembly.instantiate(module, system(module)), weights);
        },
    };
})();
