import { type ReactNode, useState } from 'react';

/** A line that expands. Its content mounts only then, because a page may have hundreds of lines. */
export function Disclosure({
  summary,
  isOpen: isOpenAtFirst = false,
  children,
}: {
  readonly summary: ReactNode;
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="px-5 py-3 marker:text-ink-faint hover:bg-sunken">{summary}</summary>
      {isOpen && <div className="border-t border-line px-5 pt-4 pb-6">{children}</div>}
    </details>
  );
}
