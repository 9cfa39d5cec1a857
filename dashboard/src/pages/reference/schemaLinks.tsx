import { createContext, useContext } from 'react';

/** The names of the schemas that have an entry. */
export const SchemaNames = createContext<ReadonlySet<string>>(new Set());

/** A type such as `Message[]`, in which the names of schemas lead to their entries. */
export function SchemaLinks({ type }: { readonly type: string }) {
  const names = useContext(SchemaNames);
  return type.split(/\b/).map((part, index) =>
    names.has(part) ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their order
      <a key={index} href={`#schemas.${part}`} className="text-accent underline underline-offset-2">
        {part}
      </a>
    ) : (
      part
    ),
  );
}
