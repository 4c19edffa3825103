/** Small drawings of our own on a grid of 16, in the colour of the text around them. */

const PATHS = {
  pass: "M3 8.5l3.2 3.2L13 4.8",
  fail: "M4 4l8 8M12 4l-8 8",
  limit: "M8 4.5V8l2.5 1.5M8 1.75a6.25 6.25 0 1 1 0 12.5a6.25 6.25 0 0 1 0-12.5z",
  skip: "M3.5 8h9",
  advice: "M8 1.75a6.25 6.25 0 1 1 0 12.5a6.25 6.25 0 0 1 0-12.5zM8 4.9v.2M8 7.3v3.9",
  fault: "M8 2l6.5 11.5h-13zM8 6.5v3M8 11.4v.2",
  running: "M8 1.75a6.25 6.25 0 1 1-6.25 6.25",
  waiting: "M4 8h.01M8 8h.01M12 8h.01",
  partly: "M8 1.75a6.25 6.25 0 1 1 0 12.5a6.25 6.25 0 0 1 0-12.5zM5.5 8.3l1.8 1.8L10.5 6.4",
  hint: "M5.75 11c0-.9-.3-1.3-.9-1.9a4.25 4.25 0 1 1 6.3 0c-.6.6-.9 1-.9 1.9zM6.5 14h3",
  passed: "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11zM5.6 8.2l1.7 1.7L10.4 6.6",
  failed: "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11zM6 6l4 4M10 6l-4 4",
  open: "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11z",
  lock: "M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
  play: "M5 3.5v9l7-4.5z",
  send: "M8 13V4M4.5 7L8 3.5 11.5 7M3 14.5h10",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  theme: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  keys: "M2 4.5h12v7H2zM4.5 7h.01M7 7h.01M9.5 7h.01M11.8 7h.01M5 9.3h6",
  draft: "M3 13l.8-3L11 2.8 13.2 5 6 12.2z",
  chevron: "M6 3.5L10.5 8 6 12.5",
  statement: "M3 3.5h10M3 6.5h10M3 9.5h10M3 12.5h6",
  code: "M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5",
  results: "M2.5 4.5l1.2 1.2L6 3.5M8.5 4.5h5M2.5 11l1.2 1.2L6 10M8.5 11h5",
  add: "M8 3v10M3 8h10",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9zM10.5 10.5L14 14",
} as const;

export type IconName = keyof typeof PATHS;

/** An icon. It is decoration: the word for it stands beside it, or in the control's label. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
