import { useEffect } from 'react';
import { buttonClass } from '../../components/button.tsx';
import { Notice } from '../../components/notice.tsx';
import { Card } from '../../components/page/layout.tsx';
import { CodeSnippet } from '../../components/schema/codeSnippet.tsx';
import { Phrase } from '../../components/text/prose.tsx';
import type { Reference } from '../../openapi.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { type Entry, idOf, nameOf, type Section } from './entries.ts';
import { MethodTag } from './methodTag.tsx';
import { referenceStrings } from './strings.ts';

/** The first page: how to call the API, and all entries. */
export function ReferenceOverview({
  reference: { info },
  sections,
  target,
}: {
  readonly reference: Reference;
  readonly sections: readonly Section[];
  /** The section to show, from the address. */
  readonly target: string;
}) {
  useEffect(() => {
    document.title = `${referenceStrings.title} · ${sharedStrings.product}`;
  }, []);
  const isUnknown = target !== '' && sections.every(({ id }) => id !== target);
  return (
    <div className="mx-auto grid max-w-4xl grid-cols-1 gap-8">
      <header className="grid grid-cols-1 gap-3">
        <h1 className="text-3xl font-semibold">{referenceStrings.title}</h1>
        <p className="max-w-prose text-ink-soft">
          <Phrase text={info.description} />
        </p>
        <div className="mt-1 flex flex-wrap gap-2.5">
          <a href="/docs/guides/" className={buttonClass('primary')}>
            {referenceStrings.readGuides}
          </a>
          <a href="/openapi.json" className={buttonClass()}>
            {referenceStrings.document}
          </a>
          <a href="/docs/errors" className={buttonClass()}>
            {referenceStrings.errors}
          </a>
        </div>
      </header>
      {isUnknown && <Notice tone="warn">{referenceStrings.unknown(target)}</Notice>}
      <Card title={referenceStrings.authentication} hint={referenceStrings.authenticationHint}>
        <CodeSnippet
          label={`${referenceStrings.examples}: ${referenceStrings.authentication}`}
          code={`curl '${location.origin}/api/v1/auth/me' \\\n  -H "Authorization: Bearer $SWITCHBOARD_KEY"`}
        />
      </Card>
      {sections.map((section) => (
        <OverviewSection key={section.id} section={section} isTarget={section.id === target} />
      ))}
      <p className="text-xs text-ink-faint">{`${sharedStrings.product} ${info.version}`}</p>
    </div>
  );
}

function OverviewSection({
  section: { title, hint, entries },
  isTarget,
}: {
  readonly section: Section;
  readonly isTarget: boolean;
}) {
  return (
    <div ref={isTarget ? scrollIntoView : undefined} className="scroll-mt-20">
      <Card flush title={title} hint={hint}>
        <ul aria-label={title} className={isCompact(entries) ? 'border-t border-line p-2 sm:columns-2' : ''}>
          {entries.map((entry) => (
            <li key={idOf(entry)} className={isCompact(entries) ? '' : 'border-t border-line'}>
              <a
                href={`#${idOf(entry)}`}
                className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 px-5 py-2.5 text-ink no-underline hover:bg-sunken max-wide:py-3"
              >
                <EntryLine entry={entry} />
              </a>
            </li>
          ))}
        </ul>
      </Card>
    </div>
  );
}

function EntryLine({ entry }: { readonly entry: Entry }) {
  if (entry.kind !== 'operation') {
    return (
      <>
        <code className="text-sm wrap-anywhere">{nameOf(entry)}</code>
        {entry.kind === 'event' && <span className="text-sm text-ink-faint">{entry.operation.summary}</span>}
      </>
    );
  }
  const { path, summary } = entry.operation;
  return (
    <>
      <MethodTag entry={entry} size="small" />
      <span className="text-sm font-medium">{summary}</span>
      <code className="text-xs wrap-anywhere text-ink-faint">{path}</code>
    </>
  );
}

/** Schemas have only a name. */
const isCompact = (entries: readonly Entry[]) => entries[0]?.kind === 'schema';

/** Scrolls when the section becomes the target of the address. */
function scrollIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView();
}
