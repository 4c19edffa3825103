/** A sentence of the exercise's author, with what stands in backticks as code. Everything is text. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text
        .split(/`([^`]+)`/)
        .map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}
    </>
  );
}
