"""What is claimed about speed and memory, measured: `./run bench NAME`. Figures are ratios within one run."""
