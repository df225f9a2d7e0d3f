"""What people answered to each rule, and what a milder policy would have asked."""
