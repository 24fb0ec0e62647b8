"""How fast Tidebed is, as ratios against a peer in the same run: machines differ and are noisy, ratios less so."""
