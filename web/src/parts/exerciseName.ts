/** What an exercise is called where others are spoken of: a chapter of a course with its label. */
import type { ProblemCard } from "../api/types";

type Named = Pick<ProblemCard, "label" | "title">;

/** Whether the title says the label itself. */
export const isNamed = ({ label, title }: Named): boolean => title.startsWith(`${label} `);

/** "C2.1 Softmax"; without the number where it is only a place in a track. */
export function exerciseName(card: Named): string {
  return isNamed(card) || /^\d+$/.test(card.label) ? card.title : `${card.label} ${card.title}`;
}
