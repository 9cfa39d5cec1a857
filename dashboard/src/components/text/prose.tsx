/** Renders a description of the API: paragraphs with `code` between backticks. */
export function Prose({ text }: { readonly text: string }) {
  return text.split('\n\n').map((paragraph) => (
    <p key={paragraph} className="max-w-prose text-sm text-ink-soft">
      <Phrase text={paragraph} />
    </p>
  ));
}

/** Renders a line of a description. */
export function Phrase({ text }: { readonly text: string }) {
  return text.split('`').map((part, index) =>
    // Every second part is between backticks.
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their order
      <code key={index} className="wrap-anywhere text-ink">
        {part}
      </code>
    ) : (
      part
    ),
  );
}
