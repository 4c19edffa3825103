import "./TierRail.css";

import type { JudgingView, TierView } from "../judging/view";
import { AdvisoryChip } from "../parts/AdvisoryChip";
import { Icon } from "../parts/Icon";
import { Tabs } from "../parts/Tabs";
import { tileState } from "./words";

interface Props {
  view: JudgingView;
  shown: string;
  onChoose: (tier: string) => void;
}

/** One tile a tier, in order. Tiles keep their place and their size, whatever becomes of them. */
export function TierRail({ view, shown, onChoose }: Props) {
  const tabs = view.tiers.map((tier) => ({
    id: tier.id,
    label: <Tile tier={tier} view={view} />,
  }));
  return (
    <Tabs
      label="Tiers"
      name="tier"
      class="tier-rail"
      tabs={tabs}
      active={shown}
      onSelect={onChoose}
    />
  );
}

function Tile({ tier, view }: { tier: TierView; view: JudgingView }) {
  const { icon, tone, words, count } = tileState(tier, view);
  return (
    <span class={`tier-tile tier-tile-${tone ?? tier.phase}`}>
      <span class="tier-tile-name">
        <b>{tier.id}</b> {tier.title} <AdvisoryChip tier={tier} />
      </span>
      <span class="tier-tile-state">
        <Icon name={icon} />
        <span>{words}</span>
        <span class="tier-tile-count">{count}</span>
      </span>
      <Progress tier={tier} />
    </span>
  );
}

/** How much of a running tier is done. The number says the same. */
function Progress({ tier }: { tier: TierView }) {
  const share = tier.total > 0 ? tier.checks.length / tier.total : 0;
  return (
    <span class="tier-tile-progress" aria-hidden="true">
      {tier.phase === "running" && <span style={{ width: `${share * 100}%` }} />}
    </span>
  );
}
