import { Icon } from "../parts/Icon";
import type { Tab } from "./tabs";

interface TabListProps {
  tabs: readonly Tab[];
  shown: number;
  /** Ids of the panel and, with the tab's index behind it, of each tab. */
  panelId: string;
  tabId: string;
  onShow: (index: number) => void;
}

const LAST = Infinity;
const STEPS: Readonly<Record<string, (index: number) => number>> = {
  ArrowLeft: (index) => index - 1,
  ArrowRight: (index) => index + 1,
  Home: () => 0,
  End: () => LAST,
};

/** The tabs: one stop of the Tab key, arrow keys go from one to the next. */
export function TabList({ tabs, shown, panelId, tabId, onShow }: TabListProps) {
  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const wanted = step(shown);
    const index = wanted === LAST ? tabs.length - 1 : (wanted + tabs.length) % tabs.length;
    onShow(index);
    document.getElementById(`${tabId}-${index}`)?.focus();
  };
  return (
    <div class="editor-tabs" role="tablist" aria-label="Files" onKeyDown={move}>
      {tabs.map((tab, index) => (
        <button
          key={tab.file}
          id={`${tabId}-${index}`}
          class="editor-tab"
          type="button"
          role="tab"
          aria-selected={index === shown}
          aria-controls={panelId}
          tabIndex={index === shown ? 0 : -1}
          onClick={() => {
            onShow(index);
          }}
        >
          {tab.title}
          {tab.kind === "provided" && (
            <>
              <Icon name="lock" />
              <span class="visually-hidden">, already defined</span>
            </>
          )}
        </button>
      ))}
    </div>
  );
}
