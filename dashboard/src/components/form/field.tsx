import { type ComponentProps, type ReactNode, useId } from 'react';
import { sharedStrings } from '../../strings/shared.ts';
import { classes } from '../classes.ts';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** The error of the entered value. */
  readonly error?: string | undefined;
  readonly isOptional?: boolean;
}

/** Links an input with its label, hint and error. */
interface Wiring {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

const BOX =
  'w-full rounded-lg border border-line-strong bg-surface px-3 text-ink placeholder:text-ink-faint aria-invalid:border-bad disabled:opacity-60';

type InputProps = FieldProps & ComponentProps<'input'>;
type TextAreaProps = FieldProps & ComponentProps<'textarea'>;
type SelectProps = FieldProps &
  ComponentProps<'select'> & { readonly options: readonly (readonly [value: string, text: string])[] };

/** A labeled line of text. */
export function TextField({ label, hint, error, isOptional, className, ...rest }: InputProps) {
  return (
    <Field label={label} hint={hint} error={error} isOptional={isOptional}>
      {(wiring) => <input {...rest} {...wiring} className={classes(BOX, 'h-10', className)} />}
    </Field>
  );
}

/** A labeled text of several lines. */
export function TextArea({ label, hint, error, isOptional, className, ...rest }: TextAreaProps) {
  return (
    <Field label={label} hint={hint} error={error} isOptional={isOptional}>
      {(wiring) => <textarea rows={4} {...rest} {...wiring} className={classes(BOX, 'py-2', className)} />}
    </Field>
  );
}

/** A labeled select, which is the browser's own: it works on every phone and with every screen reader. */
export function SelectField({ label, hint, error, isOptional, options, className, ...rest }: SelectProps) {
  return (
    <Field label={label} hint={hint} error={error} isOptional={isOptional}>
      {(wiring) => (
        <select {...rest} {...wiring} className={classes(BOX, 'h-10', className)}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A checkbox or radio button with its explanation. */
export function CheckField({ label, hint, error, ...rest }: FieldProps & ComponentProps<'input'>) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean);
  return (
    <div className="flex items-start gap-2.5">
      <input
        id={id}
        type="checkbox"
        aria-describedby={described.join(' ') || undefined}
        aria-invalid={error === undefined ? undefined : true}
        {...rest}
        className="mt-1 size-4 shrink-0 accent-accent"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="text-sm text-ink">
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-xs text-ink-faint">
            {hint}
          </p>
        )}
        {error !== undefined && <FieldError id={`${id}-error`}>{error}</FieldError>}
      </div>
    </div>
  );
}

/** Label, hint and error around an input. */
export function Field({
  label,
  hint,
  error,
  isOptional,
  children,
}: FieldProps & { readonly children: (wiring: Wiring) => ReactNode }) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`]
    .filter(Boolean)
    .join(' ');
  return (
    <div className="grid grid-cols-1 gap-1.5">
      <label htmlFor={id} className="text-sm font-medium text-ink">
        {label}
        {isOptional && <span className="font-normal text-ink-faint"> ({sharedStrings.optional})</span>}
      </label>
      {children({
        id,
        'aria-describedby': described || undefined,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-xs text-ink-faint">
          {hint}
        </p>
      )}
      {error !== undefined && <FieldError id={`${id}-error`}>{error}</FieldError>}
    </div>
  );
}

export function FieldError({ id, children }: { readonly id: string; readonly children: string }) {
  return (
    <p id={id} role="alert" className="text-sm text-bad">
      {children}
    </p>
  );
}
