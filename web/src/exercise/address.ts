/** What the address of an exercise says: the tab beside the editor, the submission that is shown. */
import { problemAddress } from "../parts/addresses";

/** "author" is there in `judge dev` only. */
const TABS = ["statement", "hints", "history", "author"] as const;
export type TabName = (typeof TABS)[number];

export interface Address {
  tab: TabName;
  submission: string | null;
}

export function addressFrom(query: Record<string, string>): Address {
  return {
    tab: TABS.find((each) => each === query.tab) ?? "statement",
    submission: query.submission ?? null,
  };
}

/** The address in its shortest form. */
export function hrefOf(slug: string, { tab, submission }: Address): string {
  const query = new URLSearchParams();
  if (tab !== "statement") query.set("tab", tab);
  if (submission !== null) query.set("submission", submission);
  const text = query.toString();
  return problemAddress(slug) + (text && `?${text}`);
}
