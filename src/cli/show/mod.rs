mod pretty;
