import "./AdvisoryChip.css";

/** Says of a tier that it counts for nothing; nothing of the others. */
export function AdvisoryChip({ tier }: { tier: { advisory: boolean } }) {
  return tier.advisory ? <span class="advisory-chip">advisory</span> : null;
}
