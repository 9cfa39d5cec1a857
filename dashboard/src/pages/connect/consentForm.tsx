import type { ConnectionRequest } from '@switchboard/sdk/api';
import { useId, useState } from 'react';
import { permissionTable } from '../../../../server/src/auth/permissions.ts';
import { fieldError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { CheckField, FieldError } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Card } from '../../components/layout.tsx';
import { Notice } from '../../components/notice.tsx';
import { permits } from '../../model/grants.ts';
import { connectStrings } from '../../strings/connect.ts';
import { type KeyLimits, LimitFields, limitNames, noLimits, readLimits, typedLimits } from '../apiKeys/limitFields.tsx';

/** The permissions and limits that the person grants. */
interface Choice extends KeyLimits {
  readonly permissions: string[];
}

interface ConsentFormProps {
  readonly request: ConnectionRequest;
  readonly busy: boolean;
  readonly error: unknown;
  readonly onApprove: (choice: Choice) => void;
  readonly onDeny: () => void;
}

/** The answer to an app: fewer permissions than it asks for, and limits. Starts with those of its present connection. */
export function ConsentForm({ request, busy, error, onApprove, onDeny }: ConsentFormProps) {
  const { permissions: wanted, connection } = request;
  const present = connection?.permissions ?? ['*'];
  const [permissions, setPermissions] = useState(() => wanted.filter((one) => permits(present, one)));
  const [limits, setLimits] = useState(() => typedLimits(connection ?? noLimits));
  const isIncomplete = permissions.length === 0 || limits.sessionIds?.length === 0;
  const readsStrangers = permissions.includes('messages:read') && permissions.includes('messages:send');

  return (
    <Form
      error={error}
      fields={['permissions', ...limitNames]}
      onSubmit={() => onApprove({ permissions, ...readLimits(limits) })}
    >
      <Card title={connectStrings.permissions} hint={connectStrings.permissionsHint}>
        <Permissions
          wanted={wanted}
          value={permissions}
          onChange={setPermissions}
          error={permissions.length === 0 ? connectStrings.noPermissions : fieldError(error, 'permissions')}
        />
      </Card>
      <Card title={connectStrings.limits}>
        <div className="grid gap-4">
          <LimitFields value={limits} onChange={setLimits} errorOf={(field) => fieldError(error, field)} />
          {readsStrangers && <Notice tone="info">{connectStrings.strangers}</Notice>}
        </div>
      </Card>
      <div className="flex flex-wrap justify-end gap-2.5">
        <Button disabled={busy} onClick={onDeny}>
          {connectStrings.deny}
        </Button>
        <Button type="submit" look="primary" busy={busy} disabled={isIncomplete}>
          {connectStrings.connect}
        </Button>
      </div>
    </Form>
  );
}

interface PermissionsProps {
  readonly wanted: readonly string[];
  readonly value: readonly string[];
  readonly onChange: (permissions: string[]) => void;
  readonly error: string | undefined;
}

/** Only what the app asks for, in words. */
function Permissions({ wanted, value, onChange, error }: PermissionsProps) {
  const id = useId();
  return (
    <fieldset
      aria-label={connectStrings.permissions}
      aria-describedby={error === undefined ? undefined : id}
      className="grid gap-x-6 gap-y-3 wide:grid-cols-2"
    >
      {wanted.map((permission) => (
        <CheckField
          key={permission}
          label={explanationOf(permission)}
          hint={permission}
          checked={value.includes(permission)}
          onChange={({ currentTarget }) =>
            onChange(wanted.filter((one) => (one === permission ? currentTarget.checked : value.includes(one))))
          }
        />
      ))}
      {error !== undefined && <FieldError id={id}>{error}</FieldError>}
    </fieldset>
  );
}

function explanationOf(permission: string): string {
  const [resource = '', action = ''] = permission.split(':');
  const table: Readonly<Record<string, Readonly<Record<string, string>>>> = permissionTable;
  return table[resource]?.[action] ?? permission;
}
