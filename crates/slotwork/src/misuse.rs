//! Misuse that does not compile: known faults of others that the types rule out, each as a test named after it.

/// A slot that is given back twice has two owners afterwards. Here the first time consumes it:
///
/// ```compile_fail,E0382
/// # use slotwork::{Design, Native, Pool, Shape};
/// # use slotwork_bitmap::Bitmap;
/// let queue = Bitmap::build::<Native>(Shape::new(1, 4).unwrap()).unwrap();
/// let (_client, workers) = Pool::new(queue, |_| 0_u64).unwrap().split();
/// let claimed = workers[0].take().unwrap();
/// claimed.complete();
/// claimed.complete(); // twice
/// ```
struct DoubleRelease;

/// A handle that outlives its hold, used when the slot is another's. Here it ends with the submit:
///
/// ```compile_fail,E0382
/// # use slotwork::{Design, Native, Pool, Shape};
/// # use slotwork_bitmap::Bitmap;
/// let queue = Bitmap::build::<Native>(Shape::new(1, 4).unwrap()).unwrap();
/// let (client, _workers) = Pool::new(queue, |_| 0_u64).unwrap().split();
/// let mut vacant = client.acquire().unwrap();
/// vacant.submit();
/// *vacant = 1; // the worker has it
/// ```
///
/// And with its client:
///
/// ```compile_fail,E0505
/// # use slotwork::{Design, Native, Pool, Shape};
/// # use slotwork_bitmap::Bitmap;
/// let queue = Bitmap::build::<Native>(Shape::new(1, 4).unwrap()).unwrap();
/// let (client, _workers) = Pool::new(queue, |_| 0_u64).unwrap().split();
/// let vacant = client.acquire().unwrap();
/// drop(client);
/// vacant.submit();
/// ```
struct StaleKeyOk;

/// A helper that is right only under a lock which nothing at its edge demands. Here what one thread alone may do is
/// done by a handle that two threads cannot share:
///
/// ```compile_fail,E0277
/// # use slotwork::{Design, Native, Pool, Shape};
/// # use slotwork_bitmap::Bitmap;
/// let queue = Bitmap::build::<Native>(Shape::new(1, 4).unwrap()).unwrap();
/// let (_client, workers) = Pool::new(queue, |_| 0_u64).unwrap().split();
/// let worker = &workers[0];
/// std::thread::scope(|scope| {
///     scope.spawn(|| worker.take().is_some());
/// });
/// ```
struct NonAtomicBitmap;

/// Asking whether there is room, and then relying on it. Here there is nothing to ask; to try is to have the slot:
///
/// ```compile_fail,E0599
/// # use slotwork::{Design, Native, Pool, Shape};
/// # use slotwork_bitmap::Bitmap;
/// let queue = Bitmap::build::<Native>(Shape::new(1, 4).unwrap()).unwrap();
/// let (client, _workers) = Pool::new(queue, |_| 0_u64).unwrap().split();
/// if !client.is_full() {
///     client.acquire().unwrap().submit();
/// }
/// ```
struct Toctou;
