"""For people who are new here: four cards on their first visit, and what odd words mean."""
