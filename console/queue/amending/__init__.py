"""A call, edits or a request changed by a person before they let it go on."""
