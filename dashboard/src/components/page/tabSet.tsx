import { Tabs } from 'radix-ui';
import type { ReactNode } from 'react';

export interface TabChoice {
  readonly name: string;
  readonly onChange: (name: string) => void;
}

/** Tabs. With a `choice`, several sets show the same tab, if they have it. */
export function TabSet({
  tabs,
  label,
  choice,
}: {
  readonly tabs: readonly { readonly name: string; readonly content: ReactNode }[];
  readonly label: string;
  readonly choice?: TabChoice | undefined;
}) {
  const chosen = Math.max(
    0,
    tabs.findIndex(({ name }) => name === choice?.name),
  );
  return (
    // By index: a name may contain spaces, which an id may not.
    <Tabs.Root
      defaultValue="0"
      {...(choice && { value: String(chosen), onValueChange: (tab) => choice.onChange(tabs[Number(tab)]?.name ?? '') })}
    >
      <Tabs.List aria-label={label} className="mb-3 flex gap-1 overflow-x-auto border-b border-line">
        {tabs.map(({ name }, index) => (
          <Tabs.Trigger
            key={name}
            value={String(index)}
            className="-mb-px border-b-2 border-transparent px-3 py-2 text-sm whitespace-nowrap text-ink-soft -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
          >
            {name}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {tabs.map(({ name, content }, index) => (
        <Tabs.Content key={name} value={String(index)}>
          {content}
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
}
