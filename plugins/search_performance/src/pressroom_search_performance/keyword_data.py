"""Volume and difficulty of phrases, from the provider that the operator pays."""
