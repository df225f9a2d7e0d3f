"""The pages of policies: what each says and said, and how it is changed and tried."""
