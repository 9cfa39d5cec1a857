import { X } from 'lucide-react';
import { Toast as RadixToast } from 'radix-ui';
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { sharedStrings } from '../strings/shared.ts';
import { IconButton } from './button.tsx';
import { Dot } from './lamp.tsx';

type ShowToast = (text: string, tone?: 'good' | 'bad') => void;

const ToastContext = createContext<ShowToast>(() => {});

/**
 * Shows a message in a corner: `const toast = useToast(); toast(sharedStrings.saved)`. Errors stay until they are
 * dismissed.
 */
export function useToast(): ShowToast {
  return useContext(ToastContext);
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
}

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const showToast = useCallback<ShowToast>((text, tone = 'good') => {
    setToasts((before) => [...before.slice(-3), { id: (before.at(-1)?.id ?? 0) + 1, text, tone }]);
  }, []);
  const drop = (id: number) => setToasts((before) => before.filter((toast) => toast.id !== id));

  return (
    <ToastContext value={showToast}>
      <RadixToast.Provider label={sharedStrings.notifications} duration={5000}>
        {children}
        {toasts.map(({ id, text, tone }) => (
          <RadixToast.Root
            key={id}
            onOpenChange={(isOpen) => isOpen || drop(id)}
            {...(tone === 'bad' && { duration: Number.POSITIVE_INFINITY })}
            className="appear flex items-center gap-3 rounded-card border border-line bg-surface py-2 pr-2 pl-4 shadow-card"
          >
            <Dot tone={tone} />
            <RadixToast.Description className="min-w-0 text-sm wrap-anywhere">{text}</RadixToast.Description>
            <RadixToast.Close asChild>
              <IconButton label={sharedStrings.dismiss} className="ml-auto">
                <X />
              </IconButton>
            </RadixToast.Close>
          </RadixToast.Root>
        ))}
        <RadixToast.Viewport className="fixed right-0 bottom-0 z-50 grid w-full max-w-sm gap-2 p-4" />
      </RadixToast.Provider>
    </ToastContext>
  );
}
