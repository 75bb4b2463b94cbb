// What the contexts of several pages use. The blocks are only compiled.

func undefined<Value>() -> Value { fatalError("only compiled") }
