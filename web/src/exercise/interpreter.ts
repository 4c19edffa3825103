/** What was typed in a session with the interpreter, without prompts and answers; "" of other text. */
export function inputOf(text: string): string {
  const lines = text.split("\n").filter((line) => /^(>>>|\.\.\.)( |$)/.test(line));
  if (!lines[0]?.startsWith(">>>")) return "";
  return `${lines
    .map((line) => line.slice(4))
    .join("\n")
    .trimEnd()}\n`;
}
