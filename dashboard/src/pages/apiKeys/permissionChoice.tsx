import { useId, useState } from 'react';
import { permissionTable } from '../../../../server/src/auth/permissions.ts';
import { CheckField, FieldError } from '../../components/form/field.tsx';
import { isImplied, permits, withPermission } from '../../model/grants.ts';
import { apiKeyStrings } from '../../strings/apiKeys.ts';

interface PermissionChoiceProps {
  readonly value: readonly string[];
  readonly onChange: (grants: string[]) => void;
  readonly error?: string | undefined;
}

/** Selects all permissions, or some of them, each with its explanation. */
export function PermissionChoice({ value, onChange, error }: PermissionChoiceProps) {
  const id = useId();
  const isAll = value.includes('*');
  // Restored when the reader switches to all permissions and back.
  const [chosen, setChosen] = useState<readonly string[]>(isAll ? [] : value);

  function choose(grants: string[]) {
    setChosen(grants);
    onChange(grants);
  }

  return (
    <fieldset aria-describedby={error === undefined ? undefined : id} className="grid gap-3">
      <legend className="mb-2 text-sm font-medium">{apiKeyStrings.permissions}</legend>
      <CheckField
        type="radio"
        name={id}
        label={apiKeyStrings.all}
        hint={apiKeyStrings.allHint}
        checked={isAll}
        onChange={() => onChange(['*'])}
      />
      <CheckField
        type="radio"
        name={id}
        label={apiKeyStrings.some}
        hint={apiKeyStrings.someHint}
        checked={!isAll}
        onChange={() => onChange([...chosen])}
      />
      {!isAll && (
        <div className="grid gap-x-6 gap-y-4 rounded-lg bg-sunken p-4 wide:grid-cols-2">
          {Object.entries(permissionTable).map(([resource, actions]) => (
            <fieldset
              key={resource}
              aria-label={apiKeyStrings.permissionsOf(resource)}
              className="grid content-start gap-2"
            >
              {Object.entries(actions).map(([action, explanation]) => {
                const permission = `${resource}:${action}`;
                return (
                  <CheckField
                    key={permission}
                    label={permission}
                    hint={explanation}
                    checked={permits(value, permission)}
                    disabled={isImplied(value, permission)}
                    onChange={({ currentTarget }) => choose(withPermission(value, permission, currentTarget.checked))}
                  />
                );
              })}
            </fieldset>
          ))}
        </div>
      )}
      {error !== undefined && <FieldError id={id}>{error}</FieldError>}
    </fieldset>
  );
}
