import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { buttonClass } from './button.tsx';

interface LinkButtonProps extends ComponentProps<'a'> {
  readonly look?: Parameters<typeof buttonClass>[0];
  readonly size?: Parameters<typeof buttonClass>[1];
}

/** A link to another page that looks like a button. */
export const LinkButton = createLink(({ look, size, ...rest }: LinkButtonProps) => (
  <a {...rest} className={buttonClass(look, size)} />
));
