import { CopyButton } from '../copyButton.tsx';
import { ScrollArea } from '../page/scrollArea.tsx';

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** A JSON value whose parts can be collapsed. */
export function JsonInspector({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    <div className="relative rounded-lg border border-line bg-sunken">
      <ScrollArea label={label} className="max-h-[32rem] p-3.5 pr-12 font-mono text-[0.8rem]">
        {/* The value was parsed from JSON. */}
        <Node value={value as Json} depth={0} />
      </ScrollArea>
      <div className="absolute top-1.5 right-1.5 rounded-lg bg-sunken">
        <CopyButton text={JSON.stringify(value, null, 2)} />
      </div>
    </div>
  );
}

const OPEN_DEPTH = 3;
/** Longer lists start collapsed. */
const OPEN_ENTRIES = 50;

function Node({ name, value, depth }: { readonly name?: string; readonly value: Json; readonly depth: number }) {
  const before = name !== undefined && <span className="text-ink-soft">{name}: </span>;
  if (typeof value !== 'object' || value === null) {
    return (
      <div className="wrap-anywhere whitespace-pre-wrap">
        {before}
        <Leaf value={value} />
      </div>
    );
  }
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const [open, shut] = isList ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) {
    return (
      <div>
        {before}
        {open + shut}
      </div>
    );
  }
  return (
    <details open={depth < OPEN_DEPTH && entries.length <= OPEN_ENTRIES}>
      <summary className="text-ink-faint marker:text-ink-faint">
        {before}
        {open} {entries.length} {shut}
      </summary>
      <div className="ml-1.5 border-l border-line-strong pl-4">
        {entries.map(([entry, child]) => (
          <Node key={entry} name={entry} value={child} depth={depth + 1} />
        ))}
      </div>
    </details>
  );
}

function Leaf({ value }: { readonly value: string | number | boolean | null }) {
  if (typeof value === 'string') return <span className="text-good">{JSON.stringify(value)}</span>;
  if (typeof value === 'number') return <span className="text-warn">{value}</span>;
  return <span className="text-bad">{String(value)}</span>;
}
