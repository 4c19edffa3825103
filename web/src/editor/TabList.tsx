import { Icon } from "../parts/Icon";
import { Tabs } from "../parts/Tabs";
import type { Tab } from "./tabs";

/** The one panel of all tabs: its editor shows another text. */
export const PANEL = "editor-panel";

/** The id of a tab, which names the panel while it is shown. */
export const tabId = (index: number): string => `editor-tab-${index}`;

interface TabListProps {
  tabs: readonly Tab[];
  shown: number;
  onShow: (index: number) => void;
}

export function TabList({ tabs, shown, onShow }: TabListProps) {
  return (
    <Tabs
      label="Files"
      name="editor"
      panel={PANEL}
      class="editor-tabs"
      tabs={tabs.map((tab, index) => ({ id: String(index), label: <Title tab={tab} /> }))}
      active={String(shown)}
      onSelect={(id) => {
        onShow(Number(id));
      }}
    />
  );
}

function Title({ tab: { title, kind } }: { tab: Tab }) {
  if (kind !== "provided") return <>{title}</>;
  return (
    <>
      {title}
      <Icon name="lock" />
      <span class="visually-hidden">, already defined</span>
    </>
  );
}
