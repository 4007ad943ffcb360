"""Actions of annotators, adjudicators and managers. Each module is one use case; they import no other."""
