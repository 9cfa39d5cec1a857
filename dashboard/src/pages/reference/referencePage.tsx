import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useIsWide } from '../../components/page/isWide.ts';
import { Loaded } from '../../components/page/states.tsx';
import { type Reference, referenceQuery } from '../../openapi.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { CredentialContext, useCredentialState } from './credential.ts';
import { idOf, sectionsOf } from './entries.ts';
import { EntryPage } from './entryPage.tsx';
import { LanguageContext } from './language.ts';
import { ReferenceBar } from './referenceBar.tsx';
import { ReferenceNavigation } from './referenceNavigation.tsx';
import { ReferenceOverview } from './referenceOverview.tsx';
import { SchemaNames } from './schemaLinks.tsx';
import { referenceStrings } from './strings.ts';
import { useHash } from './useHash.ts';

/** The API reference. `/docs#messages.send` opens an operation. */
export function ReferencePage() {
  const reference = useQuery(referenceQuery);
  const credential = useCredentialState();
  const [language, setLanguage] = useState('curl');
  return (
    <CredentialContext value={credential}>
      <LanguageContext value={{ name: language, onChange: setLanguage }}>
        {/* A link would change the fragment, which names the open operation. */}
        <button
          type="button"
          className="sr-only rounded-lg bg-accent px-4 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-50"
          onClick={() => document.getElementById('content')?.focus()}
        >
          {sharedStrings.skipToContent}
        </button>
        <Frame query={reference} />
      </LanguageContext>
    </CredentialContext>
  );
}

function Frame({ query }: { readonly query: Parameters<typeof Loaded<Reference>>[0]['query'] }) {
  const isWide = useIsWide();
  const hash = useHash();
  const [isOpen, setOpen] = useState(false);
  const [search, setSearch] = useState('');
  const main = useFocusOn(hash);
  useEffect(() => {
    const close = ({ key }: KeyboardEvent) => key === 'Escape' && setOpen(false);
    document.addEventListener('keydown', close);
    return () => document.removeEventListener('keydown', close);
  }, []);
  const isNavigationShown = isWide || isOpen;
  const { data } = query;
  return (
    <>
      <ReferenceBar isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />
      <div className="wide:grid wide:grid-cols-[17.5rem_minmax(0,1fr)]">
        {isNavigationShown && (
          <div className="fixed inset-x-0 top-14 bottom-0 z-20 overflow-y-auto bg-paper px-3 py-4 wide:sticky wide:bottom-auto wide:h-[calc(100dvh-3.5rem)] wide:border-r wide:border-line">
            {data && (
              <ReferenceNavigation
                sections={sectionsOf(data)}
                current={hash}
                search={search}
                onSearch={setSearch}
                onFollow={() => setOpen(false)}
              />
            )}
          </div>
        )}
        <main id="content" ref={main} tabIndex={-1} className="min-w-0 px-4 py-6 outline-none wide:px-10 wide:py-9">
          {data === undefined && <h1 className="text-3xl font-semibold">{referenceStrings.title}</h1>}
          <Loaded query={query}>{(reference) => <Content reference={reference} hash={hash} />}</Loaded>
        </main>
      </div>
    </>
  );
}

function Content({ reference, hash }: { readonly reference: Reference; readonly hash: string }) {
  const sections = sectionsOf(reference);
  const entry = sections.flatMap(({ entries }) => entries).find((one) => idOf(one) === hash);
  return (
    <SchemaNames value={new Set(Object.keys(reference.components.schemas))}>
      {entry === undefined ? (
        <ReferenceOverview reference={reference} sections={sections} target={hash} />
      ) : (
        // The form of another operation starts empty.
        <EntryPage key={hash} entry={entry} components={reference.components} />
      )}
    </SchemaNames>
  );
}

/** Moves the focus to the content when another entry is opened, so that screen readers and the keyboard start there. */
function useFocusOn(hash: string) {
  const main = useRef<HTMLElement>(null);
  const seen = useRef(hash);
  useEffect(() => {
    if (seen.current === hash) return;
    seen.current = hash;
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [hash]);
  return main;
}
