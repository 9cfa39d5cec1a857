import { useEffect, useRef } from 'react';
import { TextField } from '../../components/form/field.tsx';
import { type Entry, filterSections, idOf, nameOf, type Section } from './entries.ts';
import { MethodTag } from './methodTag.tsx';
import { referenceStrings } from './strings.ts';

/** All entries by section, with a search. `/` moves to the search. */
export function ReferenceNavigation({
  sections,
  current,
  search,
  onSearch,
  onFollow,
}: {
  readonly sections: readonly Section[];
  /** The id of the open entry. */
  readonly current: string;
  readonly search: string;
  readonly onSearch: (search: string) => void;
  readonly onFollow: () => void;
}) {
  const input = useFocusBySlash();
  const shown = filterSections(sections, search);
  const count = shown.reduce((sum, { entries }) => sum + entries.length, 0);
  const isSearching = search.trim() !== '';
  return (
    <nav aria-label={referenceStrings.navigation} className="grid gap-1">
      <div className="px-2.5 pb-2">
        <TextField
          ref={input}
          type="search"
          label={referenceStrings.search}
          aria-keyshortcuts="/"
          value={search}
          onChange={({ currentTarget }) => onSearch(currentTarget.value)}
        />
        <p role="status" className="pt-1.5 text-xs text-ink-faint">
          {isSearching ? referenceStrings.count(count) : referenceStrings.searchHint}
        </p>
      </div>
      {shown.map((section) => (
        <NavigationSection
          // Opens again when the search ends, or another entry of it is opened.
          key={`${section.id} ${isSearching} ${isIn(section, current)}`}
          section={section}
          isOpen={isSearching || isIn(section, current)}
          current={current}
          onFollow={onFollow}
        />
      ))}
    </nav>
  );
}

function NavigationSection({
  section: { title, entries },
  isOpen,
  current,
  onFollow,
}: {
  readonly section: Section;
  readonly isOpen: boolean;
  readonly current: string;
  readonly onFollow: () => void;
}) {
  return (
    <details open={isOpen}>
      <summary className="rounded-lg px-2.5 py-1.5 text-sm font-medium marker:text-ink-faint hover:bg-sunken">
        {title}
      </summary>
      <ul className="mt-0.5 mb-2 grid gap-0.5">
        {entries.map((entry) => (
          <li key={idOf(entry)}>
            <NavigationLink entry={entry} isCurrent={idOf(entry) === current} onFollow={onFollow} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function NavigationLink({
  entry,
  isCurrent,
  onFollow,
}: {
  readonly entry: Entry;
  readonly isCurrent: boolean;
  readonly onFollow: () => void;
}) {
  return (
    <a
      ref={isCurrent ? showInNavigation : undefined}
      href={`#${idOf(entry)}`}
      onClick={onFollow}
      {...(isCurrent && { 'aria-current': 'page' })}
      className="flex items-baseline gap-2 rounded-lg px-2.5 py-1 text-sm text-ink-soft no-underline hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent"
    >
      {entry.kind === 'operation' && <MethodTag entry={entry} size="small" />}
      <span className="min-w-0 wrap-anywhere">{nameOf(entry)}</span>
    </a>
  );
}

const isIn = ({ id, entries }: Section, current: string) =>
  id === current || entries.some((entry) => idOf(entry) === current);

/** Scrolls the navigation, but not the page. */
function showInNavigation(link: HTMLElement | null): void {
  link?.scrollIntoView({ block: 'nearest' });
}

/** Focuses an input when the reader presses `/` outside of a form. */
function useFocusBySlash() {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener('keydown', focus);
    return () => document.removeEventListener('keydown', focus);
  }, []);
  return input;
}
