import { type ReactNode, useRef } from 'react';

/** A hidden file input. `children` receives the function that opens it. */
export function FilePicker({
  accept,
  onPick,
  children,
}: {
  readonly accept?: string;
  readonly onPick: (file: File) => void;
  readonly children: (open: () => void) => ReactNode;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        hidden
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file !== undefined) onPick(file);
          // Picking the same file again is a change only if the input is empty.
          currentTarget.value = '';
        }}
      />
      {children(() => input.current?.click())}
    </>
  );
}
