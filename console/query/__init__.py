"""The query box of a list: a line of text as terms, by the fields that the list has."""
