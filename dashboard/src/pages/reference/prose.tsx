/** A description of the API: paragraphs, in which `code` stands between backticks. */
export function Prose({ text }: { readonly text: string }) {
  return text.split('\n\n').map((paragraph) => (
    <p key={paragraph} className="max-w-prose text-sm text-ink-soft">
      <Phrase text={paragraph} />
    </p>
  ));
}

/** The same within a line. */
export function Phrase({ text }: { readonly text: string }) {
  return text.split('`').map((part, index) =>
    // Between the first and the second backtick, between the third and the fourth, and so on.
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a text does not change its order
      <code key={index} className="wrap-anywhere text-ink">
        {part}
      </code>
    ) : (
      part
    ),
  );
}
