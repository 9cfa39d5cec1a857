import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { CheckField, FieldError, SelectField, TextArea, TextField } from '../../components/form/field.tsx';
import { LocalTimeField } from '../../components/text/localTime.tsx';
import { Phrase } from '../../components/text/prose.tsx';
import { referenceQuery } from '../../openapi.ts';
import type { Schema } from '../../schema.ts';
import { webhookOptionStrings as strings } from './optionStrings.ts';
import { choices, optionFieldNames, type WebhookOptions } from './options.ts';

interface OptionFieldsProps {
  readonly value: WebhookOptions;
  readonly onChange: (change: Partial<WebhookOptions>) => void;
  readonly problem: (field: string) => string | undefined;
  /** Names of the headers that are set. */
  readonly headerNames: readonly string[];
  /** The default webhook has neither filters nor an expiry. */
  readonly hasFilters: boolean;
  readonly isHttp: boolean;
  /** Fields that come first. */
  readonly children?: ReactNode;
}

/** The options of a webhook that few need, closed at first. The API's own description explains them. */
export function OptionFields(props: OptionFieldsProps) {
  const [isOpen, setOpen] = useState(false);
  // A closed section must not hide why the form was rejected.
  const isShown = isOpen || optionFieldNames.some((name) => props.problem(name) !== undefined);
  return (
    <details
      open={isShown}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className="min-w-0 rounded-lg border border-line px-4 py-2.5"
    >
      <summary className="text-sm font-medium marker:text-ink-faint">{strings.more}</summary>
      {isShown && (
        <div className="grid grid-cols-1 gap-5 pt-4 pb-2">
          {props.children}
          <Fields {...props} />
        </div>
      )}
    </details>
  );
}

type PartProps = Omit<OptionFieldsProps, 'children'> & { readonly hint: Hint };

function Fields(props: OptionFieldsProps) {
  const part = { ...props, hint: useHints() };
  return (
    <>
      {props.hasFilters && <FilterFields {...part} />}
      <IncludeField {...part} />
      {props.isHttp && <HttpFields {...part} />}
      <TimingFields {...part} />
      <Entries {...part} name="metadata" more={strings.metadataHint} />
      {props.hasFilters && (
        <LocalTimeField
          label={strings.expiresAt}
          hint={part.hint('expiresAt')}
          error={props.problem('expiresAt')}
          isOptional
          value={props.value.expiresAt ?? undefined}
          onChange={(at) => props.onChange({ expiresAt: at ?? null })}
        />
      )}
    </>
  );
}

/** Selects events by chat, sender, type and ad. */
function FilterFields(props: PartProps) {
  const { value, onChange, problem, hint } = props;
  return (
    <>
      <Entries {...props} name="chats" field="filters.chats" more={strings.onePerLine} />
      <Entries {...props} name="ignoredChats" field="filters.ignoredChats" more={strings.onePerLine} />
      <Choices
        label={strings.chatTypes}
        hint={hint('filters.chatTypes')}
        error={problem('filters.chatTypes')}
        options={choices.chatTypes}
        value={value.chatTypes}
        onChange={(chatTypes) => onChange({ chatTypes })}
      />
      <SelectField
        label={strings.fromMe}
        hint={hint('filters.fromMe')}
        error={problem('filters.fromMe') ?? problem('filters')}
        options={strings.fromMeOptions}
        value={value.fromMe}
        onChange={({ currentTarget }) => onChange({ fromMe: currentTarget.value })}
      />
      <Choices
        label={strings.messageTypes}
        hint={hint('filters.messageTypes')}
        error={problem('filters.messageTypes')}
        options={choices.messageTypes}
        value={value.messageTypes}
        onChange={(messageTypes) => onChange({ messageTypes })}
      />
      <SelectField
        label={strings.hasReferral}
        hint={hint('filters.hasReferral')}
        error={problem('filters.hasReferral')}
        options={strings.hasReferralOptions}
        value={value.hasReferral}
        onChange={({ currentTarget }) => onChange({ hasReferral: currentTarget.value })}
      />
      <Entries {...props} name="adIds" field="filters.adIds" more={strings.onePerLine} />
    </>
  );
}

function IncludeField({ value, onChange, problem, hint }: PartProps) {
  return (
    <>
      <CheckField
        label={strings.ownInclude}
        hint={hint('include')}
        error={problem('include')}
        checked={value.include !== null}
        onChange={({ currentTarget }) => onChange({ include: currentTarget.checked ? [] : null })}
      />
      {value.include !== null && (
        <div className="pl-6">
          <Choices
            label={strings.include}
            options={choices.include}
            value={value.include}
            onChange={(include) => onChange({ include })}
          />
        </div>
      )}
      <TextField
        label={strings.inlineMediaBytes}
        hint={hint('inlineMediaBytes')}
        error={problem('inlineMediaBytes')}
        isOptional
        type="number"
        className="max-w-40"
        value={value.inlineMediaBytes}
        onChange={({ currentTarget }) => onChange({ inlineMediaBytes: currentTarget.value })}
      />
    </>
  );
}

/** The options of requests. Brokers have none of them. */
function HttpFields(props: PartProps) {
  const { value, onChange, problem, hint, headerNames } = props;
  const kept = headerNames.length > 0 ? ` ${strings.headersKept(headerNames)}` : '';
  return (
    <>
      <Entries {...props} name="headers" more={strings.headersHint + kept} />
      {kept !== '' && (
        <CheckField
          label={strings.removeHeaders}
          checked={value.removesHeaders}
          onChange={({ currentTarget }) => onChange({ removesHeaders: currentTarget.checked })}
        />
      )}
      <CheckField
        label={strings.acceptRedirects}
        hint={hint('acceptRedirects')}
        error={problem('acceptRedirects')}
        checked={value.acceptRedirects}
        onChange={({ currentTarget }) => onChange({ acceptRedirects: currentTarget.checked })}
      />
    </>
  );
}

/** The deadline of an attempt, and the times of retries. */
function TimingFields({ value, onChange, problem, hint }: PartProps) {
  const isOwn = value.retries === 'own';
  return (
    <>
      <TextField
        label={strings.timeoutMs}
        hint={hint('timeoutMs')}
        error={problem('timeoutMs')}
        isOptional
        type="number"
        className="max-w-40"
        value={value.timeoutMs}
        onChange={({ currentTarget }) => onChange({ timeoutMs: currentTarget.value })}
      />
      <SelectField
        label={strings.retries}
        hint={hint('retrySeconds')}
        error={isOwn ? undefined : problem('retrySeconds')}
        options={strings.retryOptions}
        value={value.retries}
        // one of the options
        onChange={({ currentTarget }) => onChange({ retries: currentTarget.value as WebhookOptions['retries'] })}
      />
      {isOwn && (
        <TextField
          label={strings.retrySeconds}
          hint={strings.retrySecondsHint}
          error={problem('retrySeconds')}
          required
          autoComplete="off"
          value={value.retrySeconds}
          onChange={({ currentTarget }) => onChange({ retrySeconds: currentTarget.value })}
        />
      )}
    </>
  );
}

/** A text with one entry per line. */
function Entries({
  value,
  onChange,
  problem,
  hint,
  name,
  field = name,
  more,
}: PartProps & {
  readonly name: 'chats' | 'ignoredChats' | 'adIds' | 'headers' | 'metadata';
  /** Its name in the API. */
  readonly field?: string;
  readonly more: string;
}) {
  return (
    <TextArea
      label={strings[name]}
      hint={hint(field, more)}
      error={problem(field)}
      isOptional
      rows={3}
      autoComplete="off"
      spellCheck={false}
      className="font-mono text-sm"
      value={value[name]}
      onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value })}
    />
  );
}

type Hint = (field: string, more?: string) => ReactNode;

/** Returns the description of a field in the API, such as `filters.chats`. */
function useHints(): Hint {
  const { data } = useQuery(referenceQuery);
  const create = data?.operations.find(({ operationId }) => operationId === 'webhooks.endpoints.create');
  const body = create?.requestBody?.content['application/json']?.schema;
  return (field, more = '') => {
    const schema = field.split('.').reduce<Schema | undefined>(propertyOf, body);
    const text = [schema?.description, more].filter(Boolean).join(' ');
    return text === '' ? undefined : <Phrase text={text} />;
  };
}

/** The schema of a property, also if null can take the place of the object. */
const propertyOf = (schema: Schema | undefined, name: string): Schema | undefined =>
  schema?.properties?.[name] ?? schema?.anyOf?.find(({ properties }) => properties !== undefined)?.properties?.[name];

function Choices({
  label,
  hint,
  error,
  options,
  value,
  onChange,
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly options: readonly string[];
  readonly value: readonly string[];
  readonly onChange: (chosen: string[]) => void;
}) {
  const id = useId();
  return (
    <fieldset aria-describedby={`${id}-hint ${id}-error`}>
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      {hint !== undefined && (
        <p id={`${id}-hint`} className="mb-2 text-xs text-ink-faint">
          {hint}
        </p>
      )}
      <div className="grid grid-cols-2 gap-x-6 gap-y-2 wide:grid-cols-3">
        {options.map((option) => (
          <CheckField
            key={option}
            label={option}
            checked={value.includes(option)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(options.filter((one) => (one === option ? checked : value.includes(one))))
            }
          />
        ))}
      </div>
      {error !== undefined && <FieldError id={`${id}-error`}>{error}</FieldError>}
    </fieldset>
  );
}
