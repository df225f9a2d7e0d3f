"""What a policy says about reviews: how severe they are, until when, and what a mistake costs."""
