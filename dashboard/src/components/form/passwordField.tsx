import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { loginStrings } from '../../strings/login.ts';
import { IconButton } from '../button.tsx';
import { TextField } from './field.tsx';

/** A password field whose text can be shown. */
export function PasswordField({
  label,
  name,
  autoComplete,
  hint,
  error,
  autoFocus = false,
}: {
  readonly label: string;
  readonly name: string;
  readonly autoComplete: 'current-password' | 'new-password';
  readonly hint?: string;
  readonly error?: string | undefined;
  readonly autoFocus?: boolean;
}) {
  const [isShown, setShown] = useState(false);
  return (
    <div className="relative">
      <TextField
        label={label}
        name={name}
        type={isShown ? 'text' : 'password'}
        autoComplete={autoComplete}
        hint={hint}
        error={error}
        required
        autoFocus={autoFocus}
        maxLength={256}
        className="pr-11"
      />
      <IconButton
        label={isShown ? loginStrings.hidePassword : loginStrings.showPassword}
        onClick={() => setShown(!isShown)}
        className="absolute top-[1.75rem] right-0.5"
      >
        {isShown ? <EyeOff /> : <Eye />}
      </IconButton>
    </div>
  );
}
