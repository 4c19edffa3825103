/** A piece of a sentence; `code` stood between backticks. */
interface Span {
  text: string;
  code: boolean;
}

/** The sentence cut at its backticks; one that is never closed is an ordinary character. */
export function spans(sentence: string): Span[] {
  const parts = sentence.split("`");
  if (parts.length % 2 === 0) parts.push(parts.splice(-2).join("`"));
  return parts
    .map((text, index) => ({ text, code: index % 2 === 1 }))
    .filter(({ text }) => text !== "");
}

/** A sentence whose backticks are code, as authors write hints and messages. */
export function Coded({ text }: { text: string }) {
  return (
    <>
      {spans(text).map((span, index) =>
        span.code ? <code key={index}>{span.text}</code> : span.text,
      )}
    </>
  );
}
