import { apiKeyStrings } from '../../strings/apiKeys.ts';
import { CheckField, TextArea, TextField } from '../form/field.tsx';
import { SessionsField } from '../session/sessionsField.tsx';
import { type Confirm, ConfirmField } from './confirmField.tsx';

/** The limits of a key. Null is no limit. */
export interface KeyLimits {
  readonly sessionIds: string[] | null;
  readonly allowedIps: string[] | null;
  readonly allowedRecipients: string[] | null;
  readonly sendQuota: number | null;
  readonly confirm: Confirm;
  readonly requiresApproval: boolean;
}

export const noLimits: KeyLimits = {
  sessionIds: null,
  allowedIps: null,
  allowedRecipients: null,
  sendQuota: null,
  confirm: null,
  requiresApproval: false,
};

/** The fields of the limits, which show their own errors. */
export const limitNames: readonly string[] = Object.keys(noLimits);

/** The limits as they are typed: lists with one entry per line. */
export interface TypedLimits {
  readonly sessionIds: string[] | null;
  readonly allowedIps: string;
  readonly allowedRecipients: string;
  readonly sendQuota: string;
  readonly confirm: Confirm;
  readonly requiresApproval: boolean;
}

/** The settings can have other fields, such as the name of the key: only limits are kept. */
export function typedLimits(settings: KeyLimits): TypedLimits {
  const { sessionIds, allowedIps, allowedRecipients, sendQuota, confirm, requiresApproval } = settings;
  const linesOf = (entries: readonly string[] | null) => (entries ?? []).join('\n');
  return {
    sessionIds,
    allowedIps: linesOf(allowedIps),
    allowedRecipients: linesOf(allowedRecipients),
    sendQuota: sendQuota === null ? '' : String(sendQuota),
    confirm,
    requiresApproval,
  };
}

/** Reads what was typed. The server validates it. */
export function readLimits({ allowedIps, allowedRecipients, sendQuota, ...rest }: TypedLimits): KeyLimits {
  return {
    allowedIps: entriesOf(allowedIps),
    allowedRecipients: entriesOf(allowedRecipients),
    sendQuota: sendQuota === '' ? null : Number(sendQuota),
    ...rest,
  };
}

/** The entries of a list with one per line, or separated by commas; null for none. */
function entriesOf(text: string): string[] | null {
  const entries = text
    .split(/[\n,]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return entries.length === 0 ? null : entries;
}

interface LimitFieldsProps {
  readonly value: TypedLimits;
  readonly onChange: (value: TypedLimits) => void;
  readonly errorOf: (field: keyof TypedLimits) => string | undefined;
}

/** Fields for the limits of a key besides its permissions. */
export function LimitFields({ value, onChange, errorOf }: LimitFieldsProps) {
  const { sessionIds, allowedIps, allowedRecipients, sendQuota, confirm, requiresApproval } = value;
  const edit = (change: Partial<TypedLimits>) => onChange({ ...value, ...change });
  return (
    <>
      <SessionsField
        strings={apiKeyStrings}
        value={sessionIds}
        onChange={(chosen) => edit({ sessionIds: chosen })}
        error={sessionIds?.length === 0 ? apiKeyStrings.noSessions : errorOf('sessionIds')}
      />
      <div className="grid items-start gap-4 wide:grid-cols-2">
        <TextArea
          label={apiKeyStrings.allowedIps}
          hint={apiKeyStrings.allowedIpsHint}
          error={errorOf('allowedIps')}
          isOptional
          rows={3}
          autoComplete="off"
          spellCheck={false}
          value={allowedIps}
          onChange={({ currentTarget }) => edit({ allowedIps: currentTarget.value })}
        />
        <TextArea
          label={apiKeyStrings.allowedRecipients}
          hint={apiKeyStrings.allowedRecipientsHint}
          error={errorOf('allowedRecipients')}
          isOptional
          rows={3}
          autoComplete="off"
          spellCheck={false}
          value={allowedRecipients}
          onChange={({ currentTarget }) => edit({ allowedRecipients: currentTarget.value })}
        />
        <TextField
          label={apiKeyStrings.sendQuota}
          hint={apiKeyStrings.sendQuotaHint}
          error={errorOf('sendQuota')}
          isOptional
          type="number"
          min={1}
          step={1}
          autoComplete="off"
          value={sendQuota}
          onChange={({ currentTarget }) => edit({ sendQuota: currentTarget.value })}
        />
      </div>
      <ConfirmField value={confirm} onChange={(chosen) => edit({ confirm: chosen })} error={errorOf('confirm')} />
      <CheckField
        label={apiKeyStrings.requiresApproval}
        hint={apiKeyStrings.requiresApprovalHint}
        error={errorOf('requiresApproval')}
        checked={requiresApproval}
        onChange={({ currentTarget }) => edit({ requiresApproval: currentTarget.checked })}
      />
    </>
  );
}
