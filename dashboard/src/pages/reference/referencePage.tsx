import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { buttonClass } from '../../components/button.tsx';
import { Disclosure } from '../../components/disclosure.tsx';
import { TextField } from '../../components/field.tsx';
import { Tag } from '../../components/lamp.tsx';
import { Card, Page } from '../../components/layout.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { type Operation, type Reference, referenceQuery } from '../../openapi.ts';
import { referenceStrings } from '../../strings/reference.ts';
import { EventDetails, OperationDetails } from './operationDetails.tsx';

/** All operations by resource. `/reference#messages.send` opens one of them. */
export function ReferencePage() {
  const reference = useQuery(referenceQuery);
  const [search, setSearch] = useState('');
  return (
    <Page
      title={referenceStrings.title}
      lead={referenceStrings.lead}
      actions={
        <>
          <a href="/openapi.json" className={buttonClass()}>
            {referenceStrings.document}
          </a>
          <a href="/docs/errors" className={buttonClass()}>
            {referenceStrings.errors}
          </a>
          <a href="/docs" className={buttonClass()}>
            {referenceStrings.interactive}
          </a>
        </>
      }
    >
      <TextField
        type="search"
        label={referenceStrings.search}
        hint={referenceStrings.searchHint}
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      <Loaded query={reference}>{(all) => <Operations reference={all} search={search} />}</Loaded>
    </Page>
  );
}

function Operations({ reference, search }: { readonly reference: Reference; readonly search: string }) {
  const { tags, operations, events, components } = reference;
  const fit = fits(search);
  const shown = operations.filter(fit);
  const shownEvents = events.filter(fit);
  return (
    <>
      <p role="status" className="text-sm text-ink-faint">
        {referenceStrings.count(shown.length, operations.length)}
      </p>
      {shown.length + shownEvents.length === 0 && (
        <Card flush>
          <Empty title={referenceStrings.none}>{referenceStrings.noneHint}</Empty>
        </Card>
      )}
      {tags.map(({ name, description }) => (
        <Section key={name} title={titleOf(name)} hint={description} operations={shown.filter(has(name))}>
          {(operation) => <OperationDetails operation={operation} components={components} />}
        </Section>
      ))}
      <Section title={referenceStrings.events} hint={referenceStrings.eventsHint} operations={shownEvents}>
        {(operation) => <EventDetails operation={operation} components={components} />}
      </Section>
    </>
  );
}

function Section({
  title,
  hint,
  operations,
  children,
}: {
  readonly title: string;
  readonly hint: string;
  readonly operations: readonly Operation[];
  readonly children: (operation: Operation) => ReactNode;
}) {
  const { hash } = useLocation();
  if (operations.length === 0) return null;
  return (
    <Card flush title={title} hint={hint}>
      <ul aria-label={title}>
        {operations.map((operation) => {
          const { operationId, method, path, summary } = operation;
          const isTarget = hash === operationId;
          return (
            <li
              key={operationId}
              ref={isTarget ? scrollIntoView : undefined}
              className="scroll-mt-20 border-t border-line"
            >
              <Disclosure
                isOpen={isTarget}
                summary={
                  <span className="ml-1 inline-flex max-w-[calc(100%-1.5rem)] flex-wrap items-baseline gap-x-3 gap-y-1 align-middle">
                    <Tag>{method}</Tag>
                    <code className="font-medium wrap-anywhere">{path}</code>
                    <span className="text-sm text-ink-soft">{summary}</span>
                  </span>
                }
              >
                {children(operation)}
              </Disclosure>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

/** Scrolls when the operation mounts, or becomes the target of the address. */
function scrollIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView();
}

/** Turns a tag into a heading: `api_keys` is "API keys". */
function titleOf(tag: string): string {
  const title = tag.replaceAll('_', ' ').replace(/^api\b/, 'API');
  return title.charAt(0).toUpperCase() + title.slice(1);
}

const has =
  (tag: string) =>
  ({ tags }: Operation) =>
    tags[0] === tag;

/** Matches operations that contain every word of the search. */
function fits(search: string): (operation: Operation) => boolean {
  const wanted = search.toLowerCase().split(/\s+/);
  return ({ operationId, method, path, summary }) => {
    const text = `${operationId} ${method} ${path} ${summary}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
}
