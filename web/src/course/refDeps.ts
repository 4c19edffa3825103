/** Whether an exercise is judged on top of the reference of what it builds on; remembered here. */
import { useState } from "preact/hooks";

import { remember, remembered } from "../parts/storage";

const KEPT_AS = "judge:ref-deps:";

/** The switch of an exercise. Where nothing is unmet there is none, and it is off. */
export function useRefDeps(slug: string, isUnmet: boolean): [boolean, (on: boolean) => void] {
  const [isOn, setOn] = useState(() => remembered(KEPT_AS + slug) === "on");
  const choose = (on: boolean) => {
    remember(KEPT_AS + slug, on ? "on" : null);
    setOn(on);
  };
  return [isUnmet && isOn, choose];
}
