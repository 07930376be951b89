//! The pictures of the README, drawn from real screens.

use crate::scenes::Scene;
use crate::svg;
use crate::zone::in_utc;
use std::path::Path;

/// Set to write the pictures anew instead of comparing them.
const WRITE: &str = "MCPREEL_WRITE_PICTURES";

/// File, scene, size, and what it shows for those who do not see it.
const PICTURES: [(&str, &str, (u16, u16), &str); 2] = [
    (
        "docs/viewer.svg",
        "failed",
        (140, 38),
        "A session while it is recorded: its requests on the left, the one that failed on the right",
    ),
    (
        "docs/timeline.svg",
        "timeline",
        (140, 26),
        "The same session in time: who waited for whom, and for how long",
    ),
];

/// `MCPREEL_WRITE_PICTURES=1 cargo test --test viewer pictures` writes them.
#[test]
fn the_pictures_show_what_the_viewer_shows() {
    let name = "pictures::the_pictures_show_what_the_viewer_shows";
    in_utc(name, compare_or_write);
}

fn compare_or_write() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (file, scene, size, title) in PICTURES {
        let (viewer, _recordings) = Scene::find(scene).play(size);
        let picture = svg::picture(&viewer.screen(), title);
        let path = root.join(file);
        if std::env::var_os(WRITE).is_some() {
            std::fs::create_dir_all(path.parent().expect("it is in a folder"))
                .and_then(|()| std::fs::write(&path, &picture))
                .expect("the picture can be written");
        }
        let stands = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stands == picture,
            "{file} is stale: {WRITE}=1 cargo test --test viewer pictures"
        );
    }
}
