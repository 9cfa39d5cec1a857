import './style.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ToastProvider } from './components/toast.tsx';
import { ReferencePage } from './pages/reference/referencePage.tsx';
import { followSystemTheme } from './theme.ts';

/* The API reference at `/docs`: a page of its own, which needs no login. */

// The style sheet that stops the page from scrolling behind a dialog needs the nonce of this page.
setNonce(document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '');
followSystemTheme();

const place = document.getElementById('root');
if (place === null) throw new Error('reference.html has no #root');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <ToastProvider>
        <ReferencePage />
      </ToastProvider>
    </QueryClientProvider>
  </StrictMode>,
);
