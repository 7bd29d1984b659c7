import { render } from 'preact';
import { App } from './page/app.tsx';

const place = document.getElementById('app');
if (place) render(<App />, place);
