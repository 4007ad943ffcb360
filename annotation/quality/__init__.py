"""Quality of labels: consent, guidelines, qualification, gold, agreement, dashboards."""
