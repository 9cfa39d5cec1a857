import { CopyButton } from '../copyButton.tsx';
import { ScrollArea } from '../page/scrollArea.tsx';
import { type TabChoice, TabSet } from '../page/tabSet.tsx';

/** Code to copy into a terminal or a program. */
export function CodeSnippet({ code, label }: { readonly code: string; readonly label: string }) {
  return (
    <div className="flex items-start rounded-lg border border-line bg-sunken">
      <ScrollArea label={label} className="max-h-96 min-w-0 grow p-3.5 text-sm">
        <pre>{code}</pre>
      </ScrollArea>
      <div className="p-1.5">
        <CopyButton text={code} />
      </div>
    </div>
  );
}

/** The same code in several languages, in tabs. */
export function CodeSnippets({
  snippets,
  label,
  choice,
}: {
  readonly snippets: readonly { readonly name: string; readonly code: string }[];
  readonly label: string;
  readonly choice?: TabChoice;
}) {
  return (
    <TabSet
      label={label}
      choice={choice}
      tabs={snippets.map(({ name, code }) => ({
        name,
        content: <CodeSnippet code={code} label={`${label}: ${name}`} />,
      }))}
    />
  );
}
