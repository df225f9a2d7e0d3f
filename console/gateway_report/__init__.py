"""The page of the tool gateway: rules by how often they asked, and drafts to ask less."""
